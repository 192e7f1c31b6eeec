/**
 * Serves the API on its own port. On a loopback address, authentication is optional. On any other, it
 * is required unless `insecure` is set.
 */
import { JobmillError, type Mill } from 'jobmill'
import { logWarning, stopSignalOf } from 'jobmill/internal'
import { quote, systemPlatform } from 'jobmill/store'
import { handlerFor } from '../api.ts'
import { checkBasePath } from './base-path.ts'
import { adminForEveryone, identityOf } from '../access/identity.ts'
import { checkHttpOptions, HTTP_DEFAULTS, type HttpOptions, toStandardError } from '../options.ts'
import { checkAddress, isLoopback } from './address.ts'
import { listenUntilStop } from './socket.ts'

export interface ServeOptions extends HttpOptions {
  /** The port to listen on (default 8787); 0 for any free port. */
  readonly port?: number
  /** The address to listen on (default 127.0.0.1). */
  readonly bind?: string
}

export interface Served {
  /** The URL, including the base path. */
  readonly url: string
  /** Whether Mission Control is served. */
  readonly hasPage: boolean
  /** Warnings for the operator, such as missing authentication. Also written to the log of the mill. */
  readonly warnings: readonly string[]
  /** Stops accepting requests and ends all event streams. The stop of the mill does the same, and waits. */
  readonly close: () => Promise<void>
}

export async function serve(mill: Mill<never>, options: ServeOptions = {}): Promise<Served> {
  checkHttpOptions(options, ['port', 'bind'])
  const { port = HTTP_DEFAULTS.port, bind = HTTP_DEFAULTS.bind, ...rest } = options
  checkAddress(port, bind)
  stopSignalOf(mill)?.throwIfAborted()
  const { api, warnings } = openTo(mill, bind, rest)
  const { url: origin, close } = await listenUntilStop(mill, {
    port,
    bind,
    fetch: api.fetch,
    // Access control also limits the time of the bodies of our own routes.
    slowBodies: rest.passthrough !== undefined,
    platform: rest.platform ?? systemPlatform,
    onClose: api.stop,
  })
  const url = `${origin}${checkBasePath(rest.basePath ?? '')}`
  for (const warning of warnings) logWarning(mill, warning, { url })
  return { url, hasPage: api.hasPage, warnings, close }
}

function openTo(mill: Mill<never>, bind: string, options: HttpOptions) {
  const { tokens, authenticate, insecure = false, onError = toStandardError } = options
  const isLocal = isLoopback(bind)
  if (tokens !== undefined || authenticate !== undefined || insecure) {
    const isOpen = tokens === undefined && authenticate === undefined
    // Loopback names only, against DNS rebinding: a page could point its own name at this machine.
    const callers = isOpen && isLocal ? 'loopback-names' : 'any'
    const api = handlerFor(mill, options, { identity: identityOf(options, onError), callers })
    const warning = `no authentication: every caller that can reach ${bind} is an admin`
    return { api, warnings: isOpen ? [warning] : [] }
  }
  if (!isLocal)
    throw new JobmillError('OPTION_INVALID', 'only a loopback address is allowed without authentication', {
      field: 'bind',
      value: quote(bind),
      fix: { code: 'access.secure' },
    })
  // Public routes are usually exposed by a proxy, which would also open Mission Control to everyone.
  if (options.passthrough !== undefined)
    throw new JobmillError(
      'OPTION_CONFLICT',
      'public routes and Mission Control would share a port without authentication',
      {
        field: 'passthrough',
        fix: 'Pass tokens or authenticate, or serve the public routes on a port of their own with servePublic',
      },
    )
  return {
    api: handlerFor(mill, options, { identity: adminForEveryone('local'), callers: 'this-machine' }),
    warnings: [
      'no authentication: every user of this machine is an admin. Set JOBMILL_TOKENS, or pass tokens or authenticate, before you put a proxy in front',
    ],
  }
}
