import type { Finding } from '@backporch/kyaml/note'

export function checkArchived(name: string, archived: boolean): readonly Finding[] {
  return archived
    ? [
        createFailedFinding(
          'forge',
          'BP5008',
          `${name} is archived`,
          'unarchive it, or name another repository',
        ),
      ]
    : []
}

export function checkIssues(name: string, issues: boolean): readonly Finding[] {
  const message = `${name} has no issues, so there is no dashboard and no report of a storm`
  return issues
    ? []
    : [
        {
          check: 'forge',
          state: 'warning',
          message,
          fix: 'turn issues on in the settings of the repository',
        },
      ]
}

export function pushFinding(name: string, push: boolean, fix: string): Finding {
  if (push)
    return { check: 'forge-permissions', state: 'passed', message: `${name}: the account may push` }
  return createFailedFinding(
    'forge-permissions',
    'BP5003',
    `${name}: the account may not push`,
    fix,
  )
}

export function createFailedFinding(
  check: string,
  code: Finding['code'],
  message: string,
  fix: string,
): Finding {
  return { check, state: 'failed', code, message, fix }
}
