/** Reads the addresses from which webhooks are accepted. */
import { isIP } from 'node:net'
import type { SourcesConfig } from './config.ts'
import { type Problems, typeOf } from './problems.ts'
import type { Section } from './section.ts'

/** The networks that Telegram publishes. They may change. */
const TELEGRAM = ['149.154.160.0/20', '91.108.4.0/22']
const EXAMPLE = "Write telegram, or a list of addresses and networks: ['149.154.160.0/20', '127.0.0.1']"

export function sourcesOf(root: Section, found: Problems): SourcesConfig | null {
  const given = root.get('sources')
  const header = root.text('sourceHeader')?.toLowerCase() ?? null
  if (given === undefined) {
    if (header !== null)
      found.warn(root.at('sourceHeader'), 'has no effect without sources', 'Write sources: telegram')
    return null
  }
  const list = given === 'telegram' ? TELEGRAM : given
  if (!Array.isArray(list) || list.length === 0) {
    found.error(root.at('sources'), `must be telegram or a list (got ${typeOf(given)})`, EXAMPLE)
    return null
  }
  const networks = list.flatMap((one) => {
    const network = networkOf(one)
    if (network === null)
      found.error(
        root.at('sources'),
        `must contain only addresses and networks (got ${typeOf(one)})`,
        EXAMPLE,
      )
    return network ?? []
  })
  return { networks, header }
}

function networkOf(value: unknown): SourcesConfig['networks'][number] | null {
  const [address = '', bits, ...more] = typeof value === 'string' ? value.trim().split('/') : []
  const version = isIP(address)
  const most = version === 4 ? 32 : 128
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (version === 0 || more.length > 0 || !(prefix <= most)) return null
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}
