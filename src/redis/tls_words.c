#include "redis/tls_words.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/message.h"

/* ---- Certificates -------------------------------------------------------------------------- */

/* add_text appends printable text to a list, and cuts it if it is too long. */
static void add_text(char *list, size_t size, const unsigned char *text, int count)
{
	size_t end = strlen(list);

	end += (size_t)snprintf(list + end, size - end, "%s", end > 0 ? ", " : "");
	for (int i = 0; i < count && end + 1 < size; i++)
		list[end++] = text[i] > ' ' && text[i] < 0x7f ? (char)text[i] : '?';
	list[end < size ? end : size - 1] = '\0';
}

static void add_address(char *list, size_t size, const ASN1_OCTET_STRING *address)
{
	int count = ASN1_STRING_length(address);
	char text[INET6_ADDRSTRLEN];

	if ((count == 4 || count == 16) &&
	    inet_ntop(count == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text,
		      sizeof text))
		add_text(list, size, (const unsigned char *)text, (int)strlen(text));
}

/* list_names lists the alternative names of a certificate. If there are none, it lists the common
 * name. */
static void list_names(const X509 *certificate, char *ret_list, size_t size)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
	char common[128] = "";

	ret_list[0] = '\0';
	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

		if (name->type == GEN_DNS)
			add_text(ret_list, size, ASN1_STRING_get0_data(name->d.dNSName),
				 ASN1_STRING_length(name->d.dNSName));
		else if (name->type == GEN_IPADD)
			add_address(ret_list, size, name->d.iPAddress);
	}
	GENERAL_NAMES_free(names);
	if (ret_list[0] == '\0' &&
	    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, common,
				      sizeof common) > 0)
		add_text(ret_list, size, (const unsigned char *)common, (int)strlen(common));
}

static void say_names(const X509 *certificate, const char *wanted, char *words)
{
	char names[120];

	list_names(certificate, names, sizeof names);
	(void)message_refuse(words,
			     "the server's certificate is not for \"%.80s\", but for %s; sni=NAME "
			     "asks for another name",
			     wanted, names[0] ? names : "no name");
}

/* say_date says on which day the certificate expires or becomes valid, and whether it is the
 * server's or an authority's. */
static void say_date(const X509 *certificate, bool has_expired, bool is_authority, char *words)
{
	const ASN1_TIME *moment =
	    has_expired ? X509_get0_notAfter(certificate) : X509_get0_notBefore(certificate);
	const char *whose =
	    is_authority ? "an authority of the server's certificate" : "the server's certificate";
	struct tm tm;

	if (!moment || ASN1_TIME_to_tm(moment, &tm) != 1)
		memset(&tm, 0, sizeof tm);
	if (has_expired)
		(void)message_refuse(words, "%s expired on %04d-%02d-%02d", whose,
				     tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	else
		(void)message_refuse(words,
				     "%s is not valid before %04d-%02d-%02d: is this machine's "
				     "clock right?",
				     whose, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static void say_authority(const struct redis_url *url, char *words)
{
	if (url->ca)
		(void)message_refuse(words,
				     "the server's certificate is signed by an authority that "
				     "the ca file \"%.120s\" does not have",
				     url->ca);
	else
		(void)message_refuse(words,
				     "the server's certificate is signed by an authority that this "
				     "system does not trust: give ca=FILE");
}

void tls_words_certificate(X509_STORE_CTX *verification, const struct redis_url *url,
			   const char *wanted, char *ret_words)
{
	const X509 *certificate = X509_STORE_CTX_get_current_cert(verification);
	bool is_authority = X509_STORE_CTX_get_error_depth(verification) > 0;
	int error = X509_STORE_CTX_get_error(verification);

	switch (error) {
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		say_names(certificate, wanted, ret_words);
		break;
	case X509_V_ERR_CERT_HAS_EXPIRED:
	case X509_V_ERR_CERT_NOT_YET_VALID:
		say_date(certificate, error == X509_V_ERR_CERT_HAS_EXPIRED, is_authority,
			 ret_words);
		break;
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_CERT_SIGNATURE_FAILURE: /* another authority of the same name */
		say_authority(url, ret_words);
		break;
	default:
		(void)message_refuse(ret_words, "the server's certificate is not accepted: %s",
				     X509_verify_cert_error_string(error));
		break;
	}
}

/* ---- Errors -------------------------------------------------------------------------------- */

/* is_of_certificate returns true if the server's alert is about the client's certificate. */
static bool is_of_certificate(int reason)
{
	switch (reason) {
	case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
	case SSL_R_SSLV3_ALERT_NO_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
	case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
	case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
		return true;
	default:
		return false;
	}
}

/* is_not_tls returns true if the first bytes that arrived are not a TLS record. */
static bool is_not_tls(int reason)
{
	return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
	       reason == SSL_R_RECORD_LENGTH_MISMATCH || reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
	       reason == SSL_R_ENCRYPTED_LENGTH_TOO_LONG;
}

static bool is_too_old(int reason)
{
	return reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION ||
	       reason == SSL_R_UNSUPPORTED_PROTOCOL ||
	       reason == SSL_R_TLSV1_ALERT_INSUFFICIENT_SECURITY;
}

/* is_settled returns true if the server's alert is about its settings, not about a fault on the
 * way. */
static bool is_settled(int reason)
{
	return reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE ||
	       reason == SSL_R_TLSV1_UNRECOGNIZED_NAME;
}

bool tls_words_error(unsigned long error, const struct redis_url *url,
		     const struct tls_moment *moment, char *ret_words)
{
	int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
	const char *text = ERR_reason_error_string(error);
	bool about_certificate = is_of_certificate(reason);
	bool refused = true;

	text = text ? text : "unknown error";
	if (about_certificate && url->cert)
		(void)message_refuse(ret_words,
				     "the server does not accept the cert file \"%.100s\": "
				     "%.80s",
				     url->cert, text);
	else if (about_certificate || (moment->asked && is_settled(reason)))
		(void)message_refuse(ret_words, "the server wants a client certificate: give cert= "
						"and key=");
	else if (!moment->shaken && is_not_tls(reason))
		(void)message_refuse(ret_words, "the server does not speak TLS: use %s",
				     redis_url_scheme(url->kind, false));
	else if (is_too_old(reason))
		(void)message_refuse(ret_words, "the server does not speak TLS 1.2 or newer");
	else if (is_settled(reason))
		(void)message_refuse(ret_words, "the server refuses TLS: %.120s", text);
	else {
		(void)message_refuse(ret_words, "TLS with the server failed: %.120s", text);
		refused = false;
	}
	return refused;
}
