/** Sends an event to the job. The names that it waits for are suggested. */
import { useState } from 'react'
import { useAct } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import type { Answer } from '../../../api/types.ts'
import { Field, TextInput } from '../../../kit/forms/field.tsx'
import { JsonEditor, useJson } from '../../../kit/json/json-editor.tsx'
import { Confirm } from '../../../kit/overlays/confirm.tsx'

interface Props {
  readonly id: string
  readonly events: readonly string[]
  readonly close: () => void
}

export function SendEvent({ id, events, close }: Props) {
  const { act } = useAct<Answer<'jobs.send-event'>>()
  const [event, setEvent] = useState(events[0] ?? '')
  const [text, setText] = useState('null')
  const read = useJson(text)
  const send = () =>
    act({
      method: 'POST',
      path: `jobs/${encodeName(id)}/events`,
      body: { event, payload: 'value' in read ? read.value : null },
      done: { text: `Sent ${event}`, note: 'The handler receives it when it next waits for this event.' },
    })
  return (
    <Confirm
      title="Send event"
      verb="Send event"
      dismiss="Cancel"
      close={close}
      act={send}
      isReady={event !== '' && 'value' in read}
    >
      <Field label="Event" hint={hintOf(events)}>
        {(ids) => <TextInput {...ids} value={event} onChange={({ target }) => setEvent(target.value)} />}
      </Field>
      <JsonEditor label="Payload" text={text} change={setText} />
    </Confirm>
  )
}

function hintOf(events: readonly string[]): string {
  return events.length === 0
    ? 'The name that the handler waits for.'
    : `The job waits for ${events.join(', ')}.`
}
