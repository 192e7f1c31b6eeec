/** The API on a socket of its own. Bound to this machine it works at once; bound elsewhere it wants to know who asks. */
import { JobmillError, shown } from '../job/errors.ts'
import { systemPlatform } from '../platform/platform.ts'
import type { Mill } from '../runtime/mill.ts'
import { handlerFor, type HttpApi } from './api.ts'
import { checkBasePath } from './base-path.ts'
import { everybody, type Identity, identityOf } from './access/identity.ts'
import { type HttpOptions, toStandardError } from './options.ts'
import { listenOn } from './socket.ts'

export interface ServeOptions extends HttpOptions {
  /** Default 8787; 0 for any that is free. */
  readonly port?: number
  /** The address to listen on (default 127.0.0.1). */
  readonly bind?: string
}

export interface Served {
  /** With its base path. */
  readonly url: string
  /** Whether Mission Control is there. */
  readonly hasPage: boolean
  /** What whoever starts it should know, such as that nobody has to say who they are. */
  readonly warnings: readonly string[]
  /** Takes no more requests, and ends what is being listened to. */
  readonly close: () => Promise<void>
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/

export async function serve(mill: Mill<never>, options: ServeOptions = {}): Promise<Served> {
  const { port = 8787, bind = '127.0.0.1', ...rest } = options
  const { api, warnings } = openTo(mill, bind, rest)
  const { url, close } = await listenOn({
    port,
    bind,
    fetch: api.fetch,
    // Of the bodies of our own routes the door says it too.
    slowBodies: rest.passthrough !== undefined,
    platform: rest.platform ?? systemPlatform,
    onClose: api.stop,
  })
  return { url: `${url}${checkBasePath(rest.basePath ?? '')}`, hasPage: api.hasPage, warnings, close }
}

interface Opened {
  readonly api: HttpApi
  readonly warnings: readonly string[]
}

function openTo(mill: Mill<never>, bind: string, options: HttpOptions): Opened {
  const { tokens, authenticate, insecure = false } = options
  const isLoopback = LOOPBACK.test(bind)
  const identity = (): Identity => identityOf(options, options.onError ?? toStandardError)
  if (tokens !== undefined || authenticate !== undefined)
    return { api: handlerFor(mill, options, { identity: identity(), callers: 'any' }), warnings: [] }
  if (insecure) {
    // Also here a page of another site must not reach it under a name that it has pointed at this machine.
    const callers = isLoopback ? 'loopback-names' : 'any'
    const api = handlerFor(mill, options, { identity: identity(), callers })
    return { api, warnings: [`no authentication: everybody who can reach ${bind} is an admin`] }
  }
  if (!isLoopback) throw noAuthentication(bind)
  if (options.passthrough !== undefined) throw passthroughWithoutAuthentication()
  const api = handlerFor(mill, options, { identity: everybody('local'), callers: 'this-machine' })
  return {
    api,
    warnings: [
      'no authentication: everybody on this machine is an admin. Do not put a proxy in front: set JOBMILL_TOKENS first',
    ],
  }
}

function noAuthentication(bind: string): JobmillError {
  return new JobmillError('OPTION_INVALID', 'refusing to listen on a public address without authentication', {
    field: 'bind',
    value: shown(bind),
    fix: 'Give tokens (JOBMILL_TOKENS or JOBMILL_TOKENS_FILE: a line "name role token" for each), or say --insecure',
  })
}

/** Public routes are what a proxy is put in front of, and with them Mission Control would be open to everybody. */
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
