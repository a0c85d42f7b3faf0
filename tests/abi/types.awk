# Reads `readelf --debug-dump=info`: the structures and enumerations named dw..., each with its
# fields and their offsets, or its enumerators and their values.
function value(text)
{
	sub(/^.*: /, "", text)
	gsub(/[ \t]|\([a-z0-9]*\)/, "", text)
	return text
}

# flush prints what is known of the entry that ends here.
function flush()
{
	if (tag == "structure_type" && depth == 1) {
		owner = name ~ /^dw/ && size != "" ? "struct " name : ""
		if (owner != "")
			print owner, "size", size
	} else if (tag == "enumeration_type" && depth == 1) {
		owner = name ~ /^dw/ ? "enum " name : ""
		if (owner != "")
			print owner, "size", size
	} else if (depth == 1) {
		owner = ""
	} else if (owner != "" && tag == "member") {
		print owner, name, "at", offset
	} else if (owner != "" && tag == "enumerator") {
		print owner, name, "=", number
	}
	tag = ""
}

/Abbrev Number:/ {
	flush()
	depth = $1
	gsub(/^<|>.*$/, "", depth)
	depth += 0
	tag = $0
	sub(/^.*\(DW_TAG_/, "", tag)
	sub(/\).*$/, "", tag)
	name = size = offset = number = ""
}
/DW_AT_name / { name = value($0) }
/DW_AT_byte_size / { size = value($0) }
/DW_AT_data_member_location/ { offset = value($0) }
/DW_AT_const_value / { number = value($0) }
END { flush() }
