/** A value that was too large to include: its size, and buttons to load or download it. */
import { Download } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../kit/button.tsx'
import { bytes } from '../../../kit/text/format.ts'
import { Json, save } from '../../../kit/json/json.tsx'
import { sayIfProblem, wholeOf } from '../whole.ts'

interface Props {
  readonly id: string
  readonly field: 'payload' | 'result'
  readonly size: number
}

export function LargeValue({ id, field, size }: Props) {
  const [fetched, setFetched] = useState<{ readonly value: unknown } | null>(null)
  const [isFetching, setFetching] = useState(false)
  const fetchIt = (then: (value: unknown) => void): Promise<void> =>
    sayIfProblem(async () => {
      setFetching(true)
      try {
        const value = fetched === null ? await wholeOf(id, field) : fetched.value
        setFetched({ value })
        then(value)
      } finally {
        setFetching(false)
      }
    })
  const keep = (value: unknown): void => save(JSON.stringify(value, null, 2), `${field}-${id}.json`)
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="mr-2">
          <span className="capitalize">{field}</span> is <b>{bytes(size)}</b>.
        </p>
        {fetched === null && (
          <Button disabled={isFetching} onClick={() => void fetchIt(() => null)}>
            {isFetching ? 'Loading…' : `Load ${field}`}
          </Button>
        )}
        <Button icon={Download} disabled={isFetching} onClick={() => void fetchIt(keep)}>
          Download {field}
        </Button>
      </div>
      {fetched !== null && <Json value={fetched.value} name={field} />}
    </div>
  )
}
