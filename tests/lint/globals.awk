# Mutable globals in the output of objdump -t: what is in .data, .bss, their thread-local sisters
# or among the commons. Constants with addresses in them (.data.rel.ro) are none.
# Output: object, symbol, section.
/file format/ { object = $1; sub(/:$/, "", object) }
NF < 3 || $NF ~ /^\./ { next }
{ section = $(NF - 2) }
section ~ /^\.data\.rel\.ro/ { next }
section ~ /^\.(data|bss|tdata|tbss)(\.|$)/ || section == "*COM*" { print object, $NF, section }
