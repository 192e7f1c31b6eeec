/** Explains why a server cannot listen on its port or address. */
import { JobmillError, quote } from '../job/errors.ts'

/** An address of another machine, a name that does not resolve, and an invalid address. */
const NO_ADDRESS: ReadonlySet<string> = new Set([
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EINVAL',
  'EAFNOSUPPORT',
])

export function notListening(error: unknown, port: number, bind: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  const isBind = NO_ADDRESS.has(String(code))
  const field = code === 'EADDRINUSE' || code === 'EACCES' ? 'port' : isBind ? 'bind' : null
  if (field === null) return error
  const why = { EADDRINUSE: 'is already in use', EACCES: 'needs a permission that this user does not have' }[
    String(code)
  ]
  return new JobmillError('OPTION_INVALID', why ?? 'is not an address of this machine', {
    field,
    value: quote(field === 'port' ? port : bind),
    fix: { code: field === 'port' ? 'server.port' : 'server.address' },
    cause: error,
  })
}
