/** Creates or edits a schedule. Problems are shown at their fields while the user types. */
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../../../api/acts.ts'
import { atField } from '../../../api/at-field.ts'
import { encodeName, type Problem } from '../../../api/client.ts'
import type { Schedule } from '../../../api/types.ts'
import { DrawerForm } from '../../../kit/forms/drawer-form.tsx'
import { JsonEditor } from '../../../kit/json/json-editor.tsx'
import { scheduleAddress } from '../schedule-address.ts'
import { JobFields } from './job-fields.tsx'
import { draftOf, FIELDS, NEW_SCHEDULE, type ScheduleField, type Wrong, requestOf } from './schedule-draft.ts'
import { TimingFields } from './timing-fields.tsx'
import { WhenFields } from './when-fields.tsx'

interface Props {
  /** The schedule to edit; omitted for a new one. */
  readonly schedule?: Schedule
  readonly close: () => void
}

export function ScheduleDrawer({ schedule, close }: Props) {
  // A snapshot from when the drawer opened; the live data keeps changing.
  const [before] = useState(schedule === undefined ? null : draftOf(schedule))
  const [draft, setDraft] = useState(before ?? NEW_SCHEDULE)
  const [refused, setRefused] = useState<{ field: ScheduleField | null; says: string } | null>(null)
  const [isTried, setTried] = useState(false)
  const { act, isActing } = useAct<Schedule>({ quiet: true })
  const [, go] = useLocation()
  const { body, wrong } = requestOf(draft, before)
  const isSame = Object.keys(body).length === 0

  function change(field: ScheduleField, value: string): void {
    setDraft((known) => ({ ...known, [field]: value }))
    setRefused(null)
  }

  async function save(): Promise<void> {
    setTried(true)
    if (Object.keys(wrong).length > 0 || isSame) return
    try {
      const saved = await act(
        schedule === undefined
          ? { method: 'POST', path: 'schedules', body, done: `Created ${draft.name}` }
          : {
              method: 'PATCH',
              path: `schedules/${encodeName(schedule.name)}`,
              body,
              done: `Updated ${schedule.name}`,
            },
      )
      close()
      if (schedule === undefined) go(scheduleAddress(saved.name))
    } catch (error) {
      setRefused(atField(error as Problem, FIELDS))
    }
  }

  const errors: Wrong = { ...shownWrong(wrong, draft, isTried) }
  if (refused !== null && refused.field !== null) errors[refused.field] = refused.says
  const fields = { draft, change, wrong: errors }
  return (
    <DrawerForm
      title={schedule === undefined ? 'New schedule' : `Edit ${schedule.name}`}
      verb={schedule === undefined ? 'Create schedule' : 'Save changes'}
      isReady={!isActing && !isSame}
      error={refused?.field === null ? refused.says : undefined}
      send={save}
      close={close}
    >
      <WhenFields {...fields} isNew={schedule === undefined} />
      <JsonEditor
        label="Payload"
        text={draft.payload}
        change={(text) => change('payload', text)}
        problems={refused?.field === 'payload' ? [refused.says] : []}
      />
      <JobFields {...fields} isNew={schedule === undefined} />
      <TimingFields {...fields} />
    </DrawerForm>
  )
}

/** A required field is reported only after the user had a chance to fill it in. */
function shownWrong(wrong: Wrong, draft: Readonly<Record<ScheduleField, string>>, isTried: boolean): Wrong {
  if (isTried) return wrong
  return Object.fromEntries(
    FIELDS.filter((field) => draft[field].trim() !== '').map((field) => [field, wrong[field]]),
  )
}
