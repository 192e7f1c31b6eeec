/** The state of a form in a drawer: its draft, and the problems at its fields. */
import { useState } from 'react'
import type { Problem } from '../../api/client.ts'

type Wrong<Draft> = Readonly<Partial<Record<keyof Draft, string>>>

interface Form<Draft> {
  readonly wrongIn: (draft: Draft) => Wrong<Draft>
  /** The field that a problem of the server is about. */
  readonly fieldOf: (path: string | undefined) => keyof Draft | undefined
  /** Reports fields that were not edited, too: the draft starts without problems. */
  readonly isWhole?: boolean
}

export interface Drafting<Draft> {
  readonly draft: Draft
  readonly set: (part: Partial<Draft>) => void
  /** What is shown at the fields. */
  readonly wrong: Wrong<Draft>
  readonly isValid: boolean
  /** A problem of the whole form. */
  readonly error: string | undefined
  /** Shows the problem if the server refuses. */
  readonly send: (write: () => Promise<unknown>, sent: () => void) => Promise<void>
}

export function useDraft<Draft extends object>(start: Draft, form: Form<Draft>): Drafting<Draft> {
  const [draft, setDraft] = useState(start)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [refused, setRefused] = useState<Problem | null>(null)
  const all = form.wrongIn(draft)
  const shown = Object.entries(all).filter(([field]) => form.isWhole === true || touched.has(field))
  const refusedField = form.fieldOf(refused?.field)
  return {
    draft,
    set(part) {
      setDraft({ ...draft, ...part })
      setTouched(new Set([...touched, ...Object.keys(part)]))
      setRefused(null)
    },
    wrong: {
      ...(Object.fromEntries(shown) as Wrong<Draft>),
      ...(refused !== null && refusedField !== undefined && { [refusedField]: refused.message }),
    },
    isValid: Object.keys(all).length === 0,
    error: refused === null || refusedField !== undefined ? undefined : textOf(refused),
    async send(write, sent) {
      try {
        await write()
      } catch (problem) {
        setRefused(problem as Problem)
        return
      }
      sent()
    },
  }
}

function textOf({ message, fix }: Problem): string {
  return fix === undefined ? message : `${message}. ${fix}.`
}
