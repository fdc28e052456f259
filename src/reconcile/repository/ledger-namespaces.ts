import { Failure } from '@backporch/kyaml/failure'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { readResourceGroup } from '../../status/resource-group.ts'
import type { RepositoryView } from './repository-view.ts'

const RESOURCE_GROUP = /^(clusters\/[^/]+\/[^/]+)\/resourcegroup\.yaml$/

/** By the unit's folder. Omits absent or unreadable ResourceGroups. */
export async function readNamespaces(
  view: RepositoryView,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const files = view.ledgerTree.filter(({ path }) => RESOURCE_GROUP.test(path))
  const texts = await readTexts(view.repository, files, signal)
  const found = new Map<string, ReadonlySet<string>>()
  for (const { path } of files) {
    const folder = RESOURCE_GROUP.exec(path)?.[1] ?? path
    const namespaces = parseNamespaces(texts.get(path) ?? '', `drift-ledger:${path}`)
    if (namespaces !== undefined) found.set(folder, namespaces)
  }
  return found
}

function parseNamespaces(text: string, where: string): ReadonlySet<string> | undefined {
  try {
    const [document] = parseGoYaml(text, where).documents
    return document === undefined
      ? undefined
      : new Set(readResourceGroup(document.value).map(({ id }) => id.namespace))
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}
