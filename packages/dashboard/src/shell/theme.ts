/** Light or dark theme: the system's, unless the user chose one. */
import { useSyncExternalStore } from 'react'
import { kept } from '../api/kept.ts'

const CHOICES = ['system', 'light', 'dark'] as const
type Choice = (typeof CHOICES)[number]

export const themeChoice = kept<Choice>('theme', 'system', (value) => CHOICES.includes(value as Choice))

const isDark = matchMedia('(prefers-color-scheme: dark)')

const themeNow = (): 'light' | 'dark' => {
  const chosen = themeChoice.get()
  if (chosen !== 'system') return chosen
  return isDark.matches ? 'dark' : 'light'
}

function write(): void {
  document.documentElement.dataset['theme'] = themeNow()
}

write()
themeChoice.subscribe(write)
isDark.addEventListener('change', write)

export function useTheme(): 'light' | 'dark' {
  return useSyncExternalStore((hear) => {
    const end = themeChoice.subscribe(hear)
    isDark.addEventListener('change', hear)
    return () => {
      end()
      isDark.removeEventListener('change', hear)
    }
  }, themeNow)
}
