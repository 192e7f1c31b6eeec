/**
 * Serves Mission Control on its own address. Listen errors name the gateway's setting instead of the
 * library's option.
 */
import { isJobmillError, JobmillError, type Mill } from 'jobmill'
import { serve, type Served, type ServeOptions } from 'jobmill-server'
import type { Address } from './config/config.ts'

export async function serveAdmin(
  mill: Mill<never>,
  { host, port }: Address,
  options: ServeOptions = {},
): Promise<Served> {
  try {
    return await serve(mill, { ...options, port, bind: host })
  } catch (error) {
    const { cause } = isJobmillError(error) ? error : {}
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    const what = WHY[code]
    if (what === undefined) throw error
    throw new JobmillError('OPTION_INVALID', what, {
      field: 'admin',
      value: `${host}:${port}`,
      fix: 'Set another address: admin in the config, or ADMIN_LISTEN',
      cause: error,
    })
  }
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address is already in use',
  EACCES: 'this user has no permission to listen on this address',
  EADDRNOTAVAIL: 'address does not exist on this machine',
  ENOTFOUND: 'address does not exist on this machine',
  EAI_AGAIN: 'address does not exist on this machine',
}
