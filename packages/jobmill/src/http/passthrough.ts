/** What an application answers itself, before our door: webhooks and mailboxes that know by themselves who may. */
import { JobmillError, shown } from '../job/errors.ts'
import { isAnswer } from './apps.ts'
import type { Incoming } from './access/local.ts'
import { problem } from './problem.ts'

/** Where a request came from. */
export interface Caller {
  /** Of the connection; behind a proxy that of the proxy. Empty where the server that this is mounted into does not say. */
  readonly address: string
}

/** Null for an address that is not its own; then nothing of the request may have been read. */
export type Passthrough = (request: Request, caller: Caller) => Response | null | Promise<Response | null>

export function checkPassthrough<B extends Passthrough | undefined>(passthrough: B, field: string): B {
  if (passthrough === undefined || typeof passthrough === 'function') return passthrough
  throw new JobmillError('HANDLER_INVALID', 'is not a function', {
    field,
    value: shown(passthrough),
    fix: 'Give a function from a request to an answer, or to null for what is not its own',
  })
}

export interface Asked {
  readonly request: Request
  readonly incoming: Incoming
}

/** Never rejects. What goes wrong is told to `failed`, without the address: that may be a secret. */
export async function answerPassthrough(
  passthrough: Passthrough,
  { request, incoming }: Asked,
  failed: (error: unknown, what: string) => void,
): Promise<Response | null> {
  try {
    const response = await passthrough(request, { address: incoming?.socket.remoteAddress ?? '' })
    if (response === null || isAnswer(response)) return response
    throw new Error('beside gave neither an answer nor null')
  } catch (error) {
    failed(error, `${request.method} beside the API`)
    return problem('INTERNAL')
  }
}
