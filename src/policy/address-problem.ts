import { normalizeRepositoryLocation } from '../syncers/sync-path.ts'

export function findAddressProblem(text: string): string | undefined {
  if (/[\s*?]/.test(text)) return 'an address has no spaces and no wildcards'
  if (/:\/\/[^@/]*:[^@/]*@/.test(text))
    return 'remove the password: everyone who can read the repository can read it'
  const [host = '', ...path] = normalizeRepositoryLocation(text).split('/')
  if (host === '' || path.every((segment) => segment === ''))
    return 'wanted a host and a path, as in https://git.example.com/team/deploy or git@git.example.com:team/deploy'
  return undefined
}
