/** The enqueue form. Problems are shown at their fields; Ctrl/⌘ + Enter enqueues. */
import { Sparkles } from 'lucide-react'
import { type KeyboardEvent, useDeferredValue, useEffect, useMemo, useState } from 'react'
import { useKinds } from '../../api/reads.ts'
import { Button } from '../../kit/button.tsx'
import { plural } from '../../kit/text/format.ts'
import { FormEnd } from '../../kit/forms/form-end.tsx'
import { JsonEditor, useJson } from '../../kit/json/json-editor.tsx'
import { CopiesFields } from './copies-fields.tsx'
import type { EnqueuedAnswer } from './enqueued.tsx'
import { type EnqueueDraft, FIELDS, type Wrong, requestOf } from './enqueue-draft.ts'
import { exampleOf } from './example/example.ts'
import { KindField } from './kind-field.tsx'
import { OptionFields } from './option-fields.tsx'
import { useEnqueue } from './use-enqueue.ts'
import { problemsOf } from './validate/validate.ts'

interface Props {
  readonly draft: EnqueueDraft
  readonly change: (changes: Partial<EnqueueDraft>) => void
  /** The payload was copied from another job, so do not replace it with an example. */
  readonly isCopy: boolean
  readonly enqueued: (answer: EnqueuedAnswer) => void
  readonly close: () => void
}

const exampleText = (schema: Parameters<typeof exampleOf>[0]): string =>
  JSON.stringify(exampleOf(schema, 0), null, 2)

export function EnqueueForm({ draft, change, isCopy, enqueued, close }: Props) {
  const known = useKinds().data?.kinds
  const kinds = known ?? []
  const [isTouched, setTouched] = useState(isCopy || draft.payload !== 'null')
  const schema = kinds.find(({ kind }) => kind === draft.kind.trim())?.schema ?? null
  const read = useJson(useDeferredValue(draft.payload))
  const problems = useMemo(
    () => (schema === null || !('value' in read) ? [] : problemsOf(schema, read.value)),
    [schema, read],
  )
  const { enqueue, isActing, refused, forget, isTried } = useEnqueue(draft, schema, enqueued)
  const { wrong, copies } = requestOf(draft, schema)
  const isVaried = copies > 1 && draft.vary === 'varied'

  function changed(changes: Partial<EnqueueDraft>): void {
    forget()
    change(changes)
  }
  function chooseKind(kind: string): void {
    const chosen = kinds.find((one) => one.kind === kind.trim())?.schema ?? null
    // Insert an example until the user has typed something.
    changed({ kind, ...(!isTouched && { payload: chosen === null ? 'null' : exampleText(chosen) }) })
  }
  // A kind that was chosen before the drawer opened gets its example once its schema is known.
  useEffect(() => {
    if (known !== undefined && draft.kind !== '') chooseKind(draft.kind)
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [known === undefined])
  function pressed(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    void enqueue()
  }

  const errors: Wrong = isTried ? { ...wrong } : withoutEmpty(wrong, draft)
  if (refused !== null && refused.field !== null) errors[refused.field] = refused.says
  const fields = { draft, change: changed, wrong: errors }
  const atPayload = [
    ...(refused?.field === 'payload' ? [refused.says] : []),
    ...(isVaried ? [] : problems.map(({ path, says }) => `${path === '' ? 'Payload' : path} ${says}.`)),
  ]
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void enqueue()
      }}
      onKeyDown={pressed}
      className="flex min-h-full flex-col gap-5"
    >
      <KindField kinds={known} value={draft.kind} change={chooseKind} error={errors.kind} />
      <JsonEditor
        label="Payload"
        text={draft.payload}
        change={(payload) => {
          setTouched(true)
          changed({ payload })
        }}
        problems={atPayload}
        tools={
          <Button look="quiet" icon={Sparkles} onClick={() => changed({ payload: exampleText(schema) })}>
            Example
          </Button>
        }
      />
      <OptionFields {...fields} />
      <CopiesFields {...fields} schema={schema} />
      <FormEnd error={refused?.field === null ? refused.says : undefined}>
        <span className="mr-auto text-xs text-soft max-sm:hidden">Ctrl/⌘ + Enter to enqueue</span>
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="main" disabled={isActing}>
          {isActing ? 'Enqueuing…' : verbOf(copies, atPayload.length > 0)}
        </Button>
      </FormEnd>
    </form>
  )
}

const verbOf = (copies: number, isDoubtful: boolean): string =>
  `Enqueue ${copies === 1 ? '1 job' : plural(copies, 'job')}${isDoubtful ? ' anyway' : ''}`

/** A required field is reported only after the user had a chance to fill it in. */
function withoutEmpty(wrong: Wrong, draft: EnqueueDraft): Wrong {
  return Object.fromEntries(
    FIELDS.filter((field) => draft[field] !== '').map((field) => [field, wrong[field]]),
  )
}
