"""Which addresses only this machine can reach. Pure."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address; a name other than localhost counts as reachable."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
