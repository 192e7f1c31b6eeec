/** Props of every part of the form. */
import type { ScheduleDraft, ScheduleField, Wrong } from './schedule-draft.ts'

export interface FieldsProps {
  readonly draft: ScheduleDraft
  readonly change: (field: ScheduleField, value: string) => void
  readonly wrong: Wrong
}
