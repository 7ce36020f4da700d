# Answer one /enricher command: enricher.sh SESSION last | why | lines | wrong CLASS | wrong LINE | off | on
# Whatever goes wrong is said on stdout: it is an answer to the person, too.
exec 2>&1
session=$1
[ $# -gt 0 ] && shift

if ! command -v enricher >/dev/null; then
    echo 'The command "enricher" is not on the PATH; install it with "pipx install ." in a checkout of Prompt Enricher'
    exit 0
fi

last_trace() {
    enricher trace last --session "$session" --json | sed -n 's/^ *{*"id": *"\([^"]*\)".*/\1/p' | head -n 1
}

case "$1" in
    last | "") enricher trace last --session "$session" ;;
    why | lines | wrong)
        trace=$(last_trace)
        if [ -z "$trace" ]; then
            echo "This session has no prompt to look at yet."
        elif [ "$1" = why ]; then
            enricher explain --trace "$trace"
        elif [ "$1" = lines ]; then
            enricher trace wrong "$trace"
        else
            case "$2" in
                "" | *[!0-9]*) enricher trace label "$trace" "${2:-wrong}" ;;
                *) enricher trace wrong "$trace" "$2" ;;
            esac
        fi
        ;;
    off | on) enricher "$1" ;;
    *) echo "Say /enricher last, why, lines, wrong CLASS, wrong LINE, off or on." ;;
esac
exit 0
