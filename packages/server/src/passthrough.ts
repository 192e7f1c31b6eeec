/**
 * Routes that an application answers before access control, such as webhooks with their own authentication.
 */
import { isAnswer } from './apps.ts'
import type { Incoming } from './access/local.ts'
import { problem } from './problem.ts'

/** The origin of a request. */
export interface Caller {
  /**
   * The address of the connection, which may be that of a proxy. Empty if the host server does not provide
   * it.
   */
  readonly address: string
}

/** Returns null for a request of another route, and must not read the body of such a request. */
export type Passthrough = (request: Request, caller: Caller) => Response | null | Promise<Response | null>

export const ROUTES_FIX =
  'Pass a function that takes a Request and returns a Response, or null for requests of other routes'

/** Never rejects. `failed` receives errors without the URL, which may contain a secret. */
export async function answerPassthrough(
  passthrough: Passthrough,
  request: Request,
  incoming: Incoming,
  failed: (error: unknown, what: string) => void,
): Promise<Response | null> {
  try {
    const response = await passthrough(request, { address: incoming?.socket.remoteAddress ?? '' })
    if (response === null || isAnswer(response)) return response
    throw new Error('the passthrough routes returned neither a Response nor null. Return one of them')
  } catch (error) {
    failed(error, `${request.method} passthrough`)
    return problem('INTERNAL')
  }
}
