/**
 * Serves the API on its own port. On a loopback address it works at once; on any other it requires
 * authentication.
 */
import { JobmillError, type Mill } from 'jobmill'
import { logWarning, stopSignalOf } from 'jobmill/internal'
import { quote, systemPlatform } from 'jobmill/store'
import { handlerFor, type HttpApi } from '../api.ts'
import { checkBasePath } from './base-path.ts'
import { adminForEveryone, type Identity, identityOf } from '../access/identity.ts'
import { checkHttpOptions, HTTP_DEFAULTS, type HttpOptions, toStandardError } from '../options.ts'
import { checkAddress, isLoopback } from './address.ts'
import { listenUntilStop } from './listen-until-stop.ts'

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

interface Opened {
  readonly api: HttpApi
  readonly warnings: readonly string[]
}

function openTo(mill: Mill<never>, bind: string, options: HttpOptions): Opened {
  const { tokens, authenticate, insecure = false } = options
  const isLocal = isLoopback(bind)
  const identity = (): Identity => identityOf(options, options.onError ?? toStandardError)
  if (tokens !== undefined || authenticate !== undefined)
    return { api: handlerFor(mill, options, { identity: identity(), callers: 'any' }), warnings: [] }
  if (insecure) {
    // Loopback names only, against DNS rebinding: a page could point its own name at this machine.
    const callers = isLocal ? 'loopback-names' : 'any'
    const api = handlerFor(mill, options, { identity: identity(), callers })
    return { api, warnings: [`no authentication: every caller that can reach ${bind} is an admin`] }
  }
  if (!isLocal) throw noAuthentication(bind)
  if (options.passthrough !== undefined) throw passthroughWithoutAuthentication()
  const api = handlerFor(mill, options, { identity: adminForEveryone('local'), callers: 'this-machine' })
  return {
    api,
    warnings: [
      'no authentication: every user of this machine is an admin. Set JOBMILL_TOKENS, or pass tokens or authenticate, before you put a proxy in front',
    ],
  }
}

function noAuthentication(bind: string): JobmillError {
  return new JobmillError('OPTION_INVALID', 'refusing to listen on a public address without authentication', {
    field: 'bind',
    value: quote(bind),
    fix: { code: 'access.secure' },
  })
}

/** Public routes are usually exposed by a proxy, which would also open Mission Control to everyone. */
function passthroughWithoutAuthentication(): JobmillError {
  return new JobmillError(
    'OPTION_CONFLICT',
    'public routes and Mission Control would share a port without authentication',
    {
      field: 'passthrough',
      fix: 'Pass tokens or authenticate, or serve the public routes on a port of their own with servePublic',
    },
  )
}
