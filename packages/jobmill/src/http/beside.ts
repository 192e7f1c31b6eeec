/** What an application answers itself, before our door: webhooks and mailboxes that know by themselves who may. */
import { JobmillError, shown } from '../job/errors.ts'
import { isAnswer } from './apps.ts'
import { problem } from './problem.ts'

/** Null for an address that is not its own; then nothing of the request may have been read. */
export type Beside = (request: Request) => Response | null | Promise<Response | null>

export function checkBeside(beside: Beside | undefined): Beside | undefined {
  if (beside === undefined || typeof beside === 'function') return beside
  throw new JobmillError('HANDLER_INVALID', 'is not a function', {
    field: 'beside',
    value: shown(beside),
    fix: 'Give a function from a request to an answer, or to null for what is not its own',
  })
}

/** Never rejects. What goes wrong is told to `failed`, without the address: that may be a secret. */
export async function answerBeside(
  beside: Beside,
  request: Request,
  failed: (error: unknown, what: string) => void,
): Promise<Response | null> {
  try {
    const response = await beside(request)
    if (response === null || isAnswer(response)) return response
    throw new Error('beside gave neither an answer nor null')
  } catch (error) {
    failed(error, `${request.method} beside the API`)
    return problem('INTERNAL')
  }
}
