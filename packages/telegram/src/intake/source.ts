/** Finds the source address of a request: from its connection, or from a header of a trusted proxy. */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { SourcesConfig } from '../config/config.ts'

export function sourceCheck(sources: SourcesConfig | null): (request: IncomingMessage) => boolean {
  if (sources === null) return () => true
  const allowed = new BlockList()
  for (const { address, prefix, family } of sources.networks) allowed.addSubnet(address, prefix, family)
  return (request) => {
    const source = sourceOf(request, sources.header)
    const version = isIP(source)
    return version !== 0 && allowed.check(source, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Empty if unknown. Takes the last of several addresses, because clients can forge the earlier ones. */
export function sourceOf({ headers, socket }: IncomingMessage, header: string | null): string {
  const said = header === null ? socket.remoteAddress : headers[header]
  const last = (Array.isArray(said) ? said.at(-1) : said)?.split(',').at(-1)?.trim() ?? ''
  // Normalize an IPv4 address from a dual-stack socket.
  return last.replace(/^::ffff:(?=\d+\.)/i, '')
}
