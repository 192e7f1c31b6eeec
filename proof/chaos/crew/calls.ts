/** Enqueues a job every 20 ms from a process without workers, and records each answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isJobmillError, type Mill } from 'jobmill'
import { nowMs } from '../../cluster/clock.ts'
import type { CrewKind, CrewPayload } from './worker.ts'

export interface Call {
  readonly n: number
  readonly kind: string
  readonly sentAt: number
  answeredAt: number | null
  /** refused: the error says that nothing was written. wrong: the error does not even say that. */
  answer: 'open' | 'acknowledged' | 'unknown' | 'refused' | 'wrong'
  id: string | null
}

export interface Calls {
  readonly all: readonly Call[]
  /** Errors that are not JobmillErrors, or that blame the caller. */
  readonly wrong: string[]
  readonly send: (mill: Mill, to: CrewKind, payload?: Partial<CrewPayload>) => Promise<Call>
  /** Sends to these kinds in turn until `signal` fires, and waits for all answers. */
  readonly stream: (mill: Mill, to: () => readonly CrewKind[], signal: AbortSignal) => Promise<void>
}

const EVERY_MS = 20

export function calls(): Calls {
  const all: Call[] = []
  const wrong: string[] = []

  async function send(
    mill: Mill,
    { kind, queue }: CrewKind,
    payload: Partial<CrewPayload> = {},
  ): Promise<Call> {
    const call: Call = { n: all.length, kind, sentAt: nowMs(), answeredAt: null, answer: 'open', id: null }
    all.push(call)
    try {
      const { id } = await mill.enqueue(
        kind,
        { n: call.n, kind, ms: 0, ...payload },
        { queue, maxAttempts: 20 },
      )
      call.id = id
      call.answer = 'acknowledged'
    } catch (error) {
      call.answer = answerOf(error)
      if (call.answer === 'wrong') wrong.push(String(error))
    }
    call.answeredAt = nowMs()
    return call
  }

  return {
    all,
    wrong,
    send,
    async stream(mill, to, signal) {
      const pending: Promise<Call>[] = []
      for (let n = 0; !signal.aborted; n += 1) {
        const kinds = to()
        const kind = kinds[n % kinds.length]
        if (kind !== undefined) pending.push(send(mill, kind))
        await sleep(EVERY_MS)
      }
      await Promise.all(pending)
    },
  }
}

function answerOf(error: unknown): Call['answer'] {
  if (!isJobmillError(error) || !error.retryable) return 'wrong'
  return error.code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'refused'
}
