/** Scrolls to the queue named in the URL (`#mail`), also when the queues load later. */
import { useEffect, useState } from 'react'

const anchored = (): string => {
  try {
    return decodeURIComponent(location.hash.slice(1))
  } catch {
    return ''
  }
}

/** The name in the URL. */
export function useAnchor(): string {
  const [name, setName] = useState(anchored)
  useEffect(() => {
    const changed = (): void => setName(anchored())
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  useEffect(() => {
    if (name !== '')
      document.querySelector(`#${CSS.escape(`queue-${name}`)}`)?.scrollIntoView({ block: 'center' })
  }, [name])
  return name
}
