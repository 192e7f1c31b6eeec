/** The name of a process: its label while it is known, otherwise its id. */
import { useWorkers } from '../../api/reads.ts'
import { TextLink } from '../../kit/button.tsx'
import { shortId } from '../../kit/text/format.ts'

export function useInstanceName(): (id: string) => string {
  const { data } = useWorkers()
  return (id) => data?.instances.find((one) => one.id === id)?.label ?? shortId(id)
}

export function InstanceName({ id }: { readonly id: string | null }) {
  const nameOf = useInstanceName()
  if (id === null) return <span className="text-soft">–</span>
  return (
    <TextLink to={`/workers#${id}`} className="inline-block max-w-[min(14rem,100%)] truncate align-bottom">
      {nameOf(id)}
    </TextLink>
  )
}

/** The version of a process that is still known. */
export function InstanceVersion({ id }: { readonly id: string | null }) {
  const { data } = useWorkers()
  return data?.instances.find((one) => one.id === id)?.version ?? '–'
}
