#!/bin/sh
# Install what the browser tests need beside Python: the distribution's Chromium, and axe-core below .cache.
# What is there already is left alone; what cannot be installed is said, with what to do.
set -eu
cd "$(dirname "$0")/../.."
AXE=4.14.1
PACKAGES=

command -v chromium >/dev/null || PACKAGES="chromium fonts-dejavu-core"
command -v npm >/dev/null || PACKAGES="$PACKAGES npm"

if [ -n "$PACKAGES" ]; then
    AS_ROOT=
    [ "$(id -u)" = 0 ] || AS_ROOT="sudo -n"
    if ! command -v apt-get >/dev/null || { [ -n "$AS_ROOT" ] && ! $AS_ROOT true 2>/dev/null; }; then
        echo "make test-browser needs $PACKAGES and may not install it here; as root: apt-get install $PACKAGES" >&2
        exit 1
    fi
    $AS_ROOT apt-get update -qq
    # shellcheck disable=SC2086  # several packages
    $AS_ROOT env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $PACKAGES >/dev/null
fi

if ! grep -qs "\"version\": \"$AXE\"" .cache/axe/node_modules/axe-core/package.json; then
    mkdir -p .cache/axe
    npm install --prefix .cache/axe --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "axe-core@$AXE"
fi
