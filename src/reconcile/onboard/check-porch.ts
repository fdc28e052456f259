import { getTextAt, type JsonObject } from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import { convertToOneLine } from '@backporch/kyaml/text'

/** From kptdev/porch, api/porchconfig/v1alpha1. */
export const PORCH_REPOSITORY = { group: 'config.porch.kpt.dev', kind: 'Repository' } as const

interface CheckedRepository {
  readonly isHere: (address: string) => boolean
  readonly baseBranch: string
  /** A policy has `approval: porch`. */
  readonly approvesInPorch: boolean
}

export function judgePorch(
  objects: readonly JsonObject[],
  { isHere, baseBranch, approvesInPorch }: CheckedRepository,
): readonly Finding[] {
  return objects.flatMap((object): Finding[] => {
    if (!isHere(getTextAt(object, 'spec', 'git', 'repo'))) return []
    const name = convertToOneLine(getTextAt(object, 'metadata', 'name'), 100)
    const directory =
      convertToOneLine(
        getTextAt(object, 'spec', 'git', 'directory').replace(/^\/+|\/+$/g, ''),
        200,
      ) || undefined
    const branch = convertToOneLine(getTextAt(object, 'spec', 'git', 'branch') || 'main', 100)
    const where = `Porch has this repository as ${convertToOneLine(getTextAt(object, 'metadata', 'namespace'), 100)}/${name}`
    const names = `backporch get packages --name ${name}${directory === undefined ? '' : ` --directory ${directory}`} has its names`
    if (branch !== baseBranch)
      return [
        {
          check: 'porch',
          state: 'warning',
          message: `${where}, with the branch ${branch} and not ${baseBranch}`,
          fix: `give --branch ${branch}, or register the repository with ${baseBranch}`,
        },
      ]
    if (approvesInPorch) return [{ check: 'porch', state: 'passed', message: `${where}; ${names}` }]
    return [
      {
        check: 'porch',
        state: 'warning',
        message: `${where}, and no policy has approval: porch: a proposal that is updated after Porch read it is approved as it was before`,
        fix: `set spec.approval: porch in a policy if people approve with porchctl (docs/guides/porch.md); ${names}`,
      },
    ]
  })
}
