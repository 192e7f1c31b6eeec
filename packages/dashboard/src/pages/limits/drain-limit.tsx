/** Grant nothing for a while, because an upstream has said so. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { named } from '../../api/client.ts'
import type { Limit } from '../../api/types/mill.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { durationError, parseDuration } from '../../kit/duration.ts'
import { Field, TextInput } from '../../kit/field.tsx'
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
      verb="Drain"
      isDangerous
      isReady={error === undefined && (!perKey || key !== '')}
      close={close}
      act={() =>
        act({
          method: 'POST',
          path: `limits/${named(name)}/drain`,
          body: { retryAfter: parseDuration(text), ...(perKey && { key }) },
          done: `Drained ${drained} for ${text}`,
        })
      }
    >
      <p>
        {perKey
          ? 'What this key has is taken away, and nothing is granted to it for as long as you say; other keys notice nothing.'
          : `${availableWords(limit)}. They are taken away, and nothing is granted for as long as you say; jobs that ask meanwhile wait.`}
      </p>
      {perKey && (
        <Field label="Key" hint="As the handlers name it.">
          {(ids) => <TextInput {...ids} value={key} onChange={(event) => setKey(event.target.value)} />}
        </Field>
      )}
      <Field label="For" error={error} hint="A duration such as 30s or 10m; 0 only empties it.">
        {(ids) => <TextInput {...ids} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
    </Confirm>
  )
}
