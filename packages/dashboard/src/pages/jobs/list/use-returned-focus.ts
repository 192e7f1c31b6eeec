/** After Back, the row of the job that was open has the focus again. */
import { useEffect, useRef } from 'react'
import { cameBack } from '../../../shell/came-back.ts'
import { lastOpened, noteListed } from './visited.ts'

export function useReturnedFocus(ids: readonly string[]): void {
  const isFirst = useRef(true)
  useEffect(() => {
    noteListed(ids)
    if (!isFirst.current) return
    isFirst.current = false
    const id = lastOpened()
    if (id === null || !cameBack() || !ids.includes(id)) return
    focusRow(id)
  }, [ids])
}

export function focusRow(id: string): void {
  const row = document.querySelector<HTMLElement>(`[data-job="${id}"] [data-open]`)
  row?.focus()
  row?.scrollIntoView({ block: 'nearest' })
}
