/** The fields of an alert rule. */
import { useKinds, useQueues } from '../../../api/reads.ts'
import type { CheckName } from '../../../api/types.ts'
import { Button } from '../../../kit/button.tsx'
import { Combobox } from '../../../kit/forms/combobox.tsx'
import { Check, Field, TextInput } from '../../../kit/forms/field.tsx'
import { CHECKS, checkWords } from '../../../kit/text/check-words.ts'
import { type Draft, newSecret, type Wrong } from './alert-form.ts'

interface Props {
  readonly draft: Draft
  readonly wrong: Wrong
  readonly set: (part: Partial<Draft>) => void
  readonly isNew: boolean
}

export function AlertFields({ draft, wrong, set, isNew }: Props) {
  const queues = useQueues().data?.queues.map(({ settings }) => ({ value: settings.name })) ?? []
  const kinds = useKinds().data?.kinds.map(({ kind }) => ({ value: kind })) ?? []
  const text = (key: 'name' | 'url' | 'for' | 'coolFor', label: string, hint: string) => (
    <Field label={label} error={wrong[key]} hint={hint}>
      {(ids) => (
        <TextInput {...ids} value={draft[key]} onChange={(event) => set({ [key]: event.target.value })} />
      )}
    </Field>
  )
  return (
    <>
      {isNew && text('name', 'Name', 'Included in each message.')}
      {text('url', 'Webhook URL', 'A worker process sends it a POST request for each problem.')}
      <Field
        label="Secret"
        error={wrong.secret}
        hint={
          isNew
            ? 'Signs the messages (Standard Webhooks). Copy it to the receiver: it is not shown again.'
            : 'Blank: unchanged. A new one is not shown again.'
        }
      >
        {(ids) => (
          <div className="flex gap-2">
            <TextInput
              {...ids}
              className="grow font-mono text-xs"
              placeholder="whsec_…"
              value={draft.secret}
              onChange={(event) => set({ secret: event.target.value })}
            />
            <Button onClick={() => set({ secret: newSecret() })}>Generate</Button>
          </div>
        )}
      </Field>
      <ChecksField draft={draft} wrong={wrong} set={set} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Queue" error={wrong.queue} hint="Blank: any queue.">
          {(ids) => (
            <Combobox {...ids} value={draft.queue} change={(queue) => set({ queue })} choices={queues} />
          )}
        </Field>
        <Field label="Kind" error={wrong.kind} hint="Blank: any kind.">
          {(ids) => <Combobox {...ids} value={draft.kind} change={(kind) => set({ kind })} choices={kinds} />}
        </Field>
        {text('for', 'For', 'How long a problem must last before it is sent.')}
        {text('coolFor', 'Cool-down', 'Minimum time between messages about the same cause.')}
      </div>
      <Check
        label="Notify on recovery"
        checked={draft.recovery}
        onChange={(event) => set({ recovery: event.target.checked })}
      />
    </>
  )
}

function ChecksField({ draft, wrong, set }: Omit<Props, 'isNew'>) {
  const turn = (check: CheckName, isOn: boolean): void =>
    set({ checks: CHECKS.filter((one) => (one === check ? isOn : draft.checks.includes(one))) })
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-xs font-medium">Checks</legend>
      <div className="grid grid-cols-2 gap-1 sm:grid-cols-3">
        {CHECKS.map((check) => (
          <Check
            key={check}
            label={checkWords(check)}
            checked={draft.checks.includes(check)}
            onChange={(event) => turn(check, event.target.checked)}
          />
        ))}
      </div>
      <p className={wrong.checks === undefined ? 'text-xs text-soft' : 'text-xs text-dead'}>
        {wrong.checks ?? 'None selected: all checks.'}
      </p>
    </fieldset>
  )
}
