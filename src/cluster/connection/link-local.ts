/** Link-local addresses: clouds keep machine credentials at them, and no cluster is there. */
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

const LINK_LOCAL = new BlockList()
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4')
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6')

export const WHY_NOT_LINK_LOCAL = 'a link-local address, where clouds keep machine credentials'
/** Code of the error of a lookup that found no other address. */
export const ONLY_LINK_LOCAL = 'ONLY_LINK_LOCAL'

/** @param host an address, also as IPv4-mapped IPv6; a name is none */
export function isLinkLocal(host: string): boolean {
  const address = host.replace(/%.*$/, '')
  const family = isIP(address)
  // A BlockList takes ::ffff:a.b.c.d for the IPv4 address.
  return family !== 0 && LINK_LOCAL.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * A lookup that gives no link-local address, so that nothing is sent to one: whoever answers for a name may change the answer after the
 * kubeconfig was read.
 */
export function withoutLinkLocal(lookup: LookupFunction = systemLookup): LookupFunction {
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
