/** Deletes a limit that no queue uses. */
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import type { Limit } from '../../api/types.ts'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import { plural } from '../../kit/text/format.ts'

interface Props {
  readonly limit: Limit
  readonly queues: readonly string[]
  readonly close: () => void
}

export function DeleteLimit({ limit: { name, held }, queues, close }: Props) {
  const { act } = useAct()
  return (
    <Confirm
      title={`Delete ${name}?`}
      verb="Delete limit"
      isDangerous
      isReady={queues.length === 0}
      close={close}
      act={() => act({ method: 'DELETE', path: `limits/${encodeName(name)}`, done: `Deleted limit ${name}` })}
    >
      {queues.length > 0 ? (
        <p>
          {plural(queues.length, 'queue')} {queues.length === 1 ? 'uses' : 'use'} this limit:{' '}
          {queues.join(', ')}. Remove it from their settings first.
        </p>
      ) : (
        <p>
          Deletes the limit{held > 0 && ` and ${plural(held, 'permit')} in use`}. Handlers that still acquire
          it will fail.
        </p>
      )}
    </Confirm>
  )
}
