/** Light or dark theme: the system's, unless the user chose one. */
import { useSyncExternalStore } from 'react'
import { preference } from '../api/user/preference.ts'

const CHOICES = ['system', 'light', 'dark'] as const
type Choice = (typeof CHOICES)[number]

const themeChoice = preference<Choice>('theme', 'system', (value) => CHOICES.includes(value as Choice))

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

export const toggleTheme = (): void => themeChoice.set(themeNow() === 'dark' ? 'light' : 'dark')

export function useTheme(): 'light' | 'dark' {
  return useSyncExternalStore((listener) => {
    const end = themeChoice.subscribe(listener)
    isDark.addEventListener('change', listener)
    return () => {
      end()
      isDark.removeEventListener('change', listener)
    }
  }, themeNow)
}
