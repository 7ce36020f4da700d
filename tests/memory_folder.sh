# Print a folder in memory if it has room for the tests' files and lets their programs run, else the usual one.
memory=/dev/shm
room=$(df -Pk "$memory" 2>/dev/null | awk 'NR == 2 { print $4 }')
probe=$(mktemp "$memory/enricher.XXXXXX" 2>/dev/null)
folder=${TMPDIR:-/tmp}
if [ -n "$probe" ] && [ "${room:-0}" -gt 4000000 ] && echo "#!/bin/sh" > "$probe" && chmod +x "$probe" && "$probe" 2>/dev/null
then
    folder=$memory
fi
rm -f "$probe"
echo "$folder"
