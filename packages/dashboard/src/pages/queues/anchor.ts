/** `#mail` leads to the queue of this name, also when the page is there before its queues are. */
import { useEffect, useState } from 'react'

const anchored = (): string => {
  try {
    return decodeURIComponent(location.hash.slice(1))
  } catch {
    return ''
  }
}

/** The name in the address. */
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
