/** Which kind of job: those that are known, and whether anybody serves them. */
import type { Kind } from '../../api/types/mill.ts'
import { Combobox } from '../../kit/combobox.tsx'
import { Field } from '../../kit/field.tsx'
import { plural } from '../../kit/format.ts'

interface Props {
  /** Undefined while they are not known. */
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
            note: served ? (queue ?? undefined) : 'served by nobody',
          }))}
        />
      )}
    </Field>
  )
}

function Hint({ kinds, kind }: { readonly kinds: Props['kinds']; readonly kind: string }) {
  if (kind === '' || kinds === undefined) return 'What the job is. Type to search.'
  const known = kinds.find((one) => one.kind === kind)
  if (known === undefined)
    return (
      <span className="text-ready">
        No process is known that serves this kind: the job would wait for one.
      </span>
    )
  if (!known.served)
    return <span className="text-ready">Nobody serves this kind now: the job waits until somebody does.</span>
  const schema =
    known.schema === null
      ? 'The form of its payload is not known here.'
      : 'The payload is checked as you type.'
  return `Served by ${plural(known.instances, 'process', 'processes')}. ${schema}`
}
