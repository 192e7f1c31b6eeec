/** Saves the filter of the list under a name. Problems with the name are shown at its field. */
import { useState } from 'react'
import { useAct } from '../../../api/acts.ts'
import { atField } from '../../../api/at-field.ts'
import { Problem } from '../../../api/client.ts'
import { Button } from '../../../kit/button.tsx'
import { Field, TextInput } from '../../../kit/forms/field.tsx'
import { Dialog } from '../../../kit/overlays/dialog.tsx'
import { toSearch } from '../filter/address.ts'
import { chipsOf } from '../filter/chips.ts'
import { type Filter, TIME_KEYS } from '../filter/filter.ts'

interface Props {
  readonly filter: Filter
  readonly close: () => void
}

/** The server refuses longer names. */
const MOST_CHARS = 60

export function SaveView({ filter, close }: Props) {
  const [name, setName] = useState('')
  const [error, setError] = useState<string | undefined>(undefined)
  const { act, isActing } = useAct({ quiet: true })
  const isRelative = TIME_KEYS.some((key) => filter[key] !== null && 'ago' in filter[key])

  async function save(): Promise<void> {
    const given = name.trim()
    if (given === '') {
      setError('Enter a name.')
      return
    }
    try {
      const body = { name: given, search: toSearch(filter).toString() }
      await act({ method: 'POST', path: 'views', body, done: `Saved view ${given}` })
      close()
    } catch (problem) {
      setError(problem instanceof Problem ? atField(problem, ['name']).says : String(problem))
    }
  }

  return (
    <Dialog title="Save view" close={close}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <p className="break-words">
          {chipsOf(filter).map(({ text, name: key, value }, at) => (
            <span key={text}>
              {at > 0 && ', '}
              <span className="text-soft">{key}</span> {value}
            </span>
          ))}
        </p>
        <Field label="Name" error={error} hint="Every user sees it in this menu and in the search.">
          {(ids) => (
            <TextInput
              {...ids}
              required
              maxLength={MOST_CHARS}
              placeholder="Dead payments"
              value={name}
              onChange={({ target }) => {
                setName(target.value)
                setError(undefined)
              }}
            />
          )}
        </Field>
        {isRelative && (
          <p className="text-soft">
            Relative times stay relative: “in the last hour” counts back from when the view is opened.
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="main" disabled={isActing}>
            {isActing ? 'Saving…' : 'Save view'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
