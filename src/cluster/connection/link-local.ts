/** Clouds serve machine credentials there, and no cluster uses them. */
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

const LINK_LOCAL = new BlockList()
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4')
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6')

export const WHY_NOT_LINK_LOCAL = 'a link-local address, where clouds keep machine credentials'
export const ONLY_LINK_LOCAL = 'ONLY_LINK_LOCAL'

/** @param host also as IPv4-mapped IPv6; a name is never link-local */
export function isLinkLocal(host: string): boolean {
  const address = host.replace(/%.*$/, '')
  const family = isIP(address)
  // BlockList treats ::ffff:a.b.c.d as the IPv4 address.
  return family !== 0 && LINK_LOCAL.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** A name's owner may change the answer after the kubeconfig was read. */
export function excludeLinkLocal(lookup: LookupFunction = systemLookup): LookupFunction {
  return (name, options, give) => {
    lookup(name, { ...options, all: true }, (error, found, family) => {
      if (error !== null) return give(error, [])
      const all =
        typeof found === 'string' ? [{ address: found, family: family ?? isIP(found) }] : found
      const others = all.filter(({ address }) => !isLinkLocal(address))
      const [first] = others
      if (first === undefined)
        give(Object.assign(new Error('no other address'), { code: ONLY_LINK_LOCAL }), [])
      else if (options.all === true) give(null, others)
      else give(null, first.address, first.family)
    })
  }
}
