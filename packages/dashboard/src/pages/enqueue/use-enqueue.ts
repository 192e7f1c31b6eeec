/** Submits the enqueue form once it is valid, and keeps the server's problem. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { type AtField, atField } from '../../api/at-field.ts'
import type { Problem } from '../../api/client.ts'
import type { Answer } from '../../api/types.ts'
import { plural } from '../../kit/text/format.ts'
import type { EnqueuedAnswer } from './enqueued.tsx'
import { type EnqueueDraft, type EnqueueField, FIELDS, requestOf } from './enqueue-draft.ts'
import type { Schema } from './validate/checking.ts'

export interface Enqueueing {
  readonly enqueue: () => Promise<void>
  readonly isActing: boolean
  /** Whether the user has tried to submit. */
  readonly isTried: boolean
  readonly refused: AtField<EnqueueField> | null
  /** Clears the server's problem. Call it when the form changes. */
  readonly forget: () => void
}

export function useEnqueue(
  draft: EnqueueDraft,
  schema: Schema | null,
  enqueued: (answer: EnqueuedAnswer) => void,
): Enqueueing {
  const { act, isActing } = useAct<Answer<'jobs.enqueue' | 'jobs.enqueue-many'>>({ quiet: true })
  const [refused, setRefused] = useState<AtField<EnqueueField> | null>(null)
  const [isTried, setTried] = useState(false)

  async function enqueue(): Promise<void> {
    setTried(true)
    const { path, body, copies, wrong } = requestOf(draft, schema)
    if (isActing || Object.keys(wrong).length > 0) return
    try {
      const kind = draft.kind.trim()
      const answer = await act({
        method: 'POST',
        path,
        body,
        done: `Sent ${plural(copies, `${kind} job`)}`,
      })
      enqueued({ kind, jobs: 'jobs' in answer ? answer.jobs : [answer] })
    } catch (error) {
      setRefused(atField(error as Problem, FIELDS))
    }
  }
  return { enqueue, isActing, isTried, refused, forget: () => setRefused(null) }
}
