/** Props of every part of the form. */
import type { EnqueueDraft, Wrong } from './enqueue-draft.ts'

export interface FieldsProps {
  readonly draft: EnqueueDraft
  readonly change: (changes: Partial<EnqueueDraft>) => void
  readonly wrong: Wrong
}
