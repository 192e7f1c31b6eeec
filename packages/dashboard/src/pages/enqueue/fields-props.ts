/** What every part of the form gets. */
import type { EnqueueDraft, Wrong } from './enqueue-draft.ts'

export interface FieldsProps {
  readonly draft: EnqueueDraft
  readonly change: (changes: Partial<EnqueueDraft>) => void
  readonly wrong: Wrong
}
