/** The kind of the job: suggests known kinds and says whether a process handles them. */
import type { Kind } from '../../api/types.ts'
import { Combobox } from '../../kit/forms/combobox.tsx'
import { Field } from '../../kit/forms/field.tsx'
import { plural } from '../../kit/text/format.ts'

interface Props {
  /** Undefined while loading. */
  readonly kinds: readonly Kind[] | undefined
  readonly value: string
  readonly change: (kind: string) => void
  readonly error: string | undefined
}

export function KindField({ kinds, value, change, error }: Props) {
  return (
    <Field label="Kind" error={error} hint={<Hint kinds={kinds} kind={value.trim()} />}>
      {(ids) => (
        <Combobox
          {...ids}
          autoFocus
          placeholder="email.send"
          value={value}
          change={change}
          choices={(kinds ?? []).map(({ kind, queue, served }) => ({
            value: kind,
            note: served ? (queue ?? undefined) : 'no worker',
          }))}
        />
      )}
    </Field>
  )
}

function Hint({ kinds, kind }: { readonly kinds: Props['kinds']; readonly kind: string }) {
  if (kind === '' || kinds === undefined) return 'Type to search.'
  const known = kinds.find((one) => one.kind === kind)
  if (known === undefined)
    return <span className="text-ready">No worker handles this kind. The job will wait for one.</span>
  if (!known.served)
    return <span className="text-ready">No worker handles this kind right now. The job will wait.</span>
  const schema =
    known.schema === null ? 'Its payload schema is unknown.' : 'The payload is validated as you type.'
  return `Served by ${plural(known.instances, 'process', 'processes')}. ${schema}`
}
