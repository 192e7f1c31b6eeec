/** Drains a limit: empties it, and grants nothing for a while, as an upstream service asked for. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import type { Limit } from '../../api/types.ts'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import { durationError, parseDuration } from '../../kit/forms/duration.ts'
import { Field, TextInput } from '../../kit/forms/field.tsx'
import { availableWords, isPerKey } from './limit-words.ts'

const DAY_MS = 86_400_000

export function DrainLimit({ limit, close }: { readonly limit: Limit; readonly close: () => void }) {
  const { act } = useAct()
  const [text, setText] = useState('1m')
  const error = durationError(text, { mostMs: DAY_MS })
  const [key, setKey] = useState('')
  const { name } = limit
  const perKey = isPerKey(limit.settings)
  const drained = perKey ? `${name} for ${key}` : name
  return (
    <Confirm
      title={`Drain ${name}?`}
      verb="Drain limit"
      isDangerous
      isReady={error === undefined && (!perKey || key !== '')}
      close={close}
      act={() =>
        act({
          method: 'POST',
          path: `limits/${encodeName(name)}/drain`,
          body: { retryAfter: parseDuration(text), ...(perKey && { key }) },
          done: `Drained ${drained} for ${text}`,
        })
      }
    >
      <p>
        {perKey
          ? 'Removes all tokens of this key and grants none for the duration. Other keys are not affected.'
          : `${availableWords(limit)}. All are removed, and none are granted for the duration. Jobs that need one will wait.`}
      </p>
      {perKey && (
        <Field label="Key" hint="As used in the handlers.">
          {(ids) => <TextInput {...ids} value={key} onChange={(event) => setKey(event.target.value)} />}
        </Field>
      )}
      <Field label="Duration" error={error} hint="e.g. 30s or 10m. 0 only empties the limit.">
        {(ids) => <TextInput {...ids} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
    </Confirm>
  )
}
