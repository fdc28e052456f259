/** The source Config Sync (docs/facts/config-sync-sources.md). */
import { shortenBranch } from '@backporch/git-store/ref-name'
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { findNonEmptyText, getPartAt, getTextAt, type JsonObject } from '@backporch/kyaml/json'
import { getAnnotations, getMetadataText } from '@backporch/kyaml/resource'
import { parseSyncFolder } from '../../syncers/own-resource.ts'
import { formatOwnTitle } from '../../syncers/sync-path.ts'
import {
  findDeclaredNamed,
  type RefusedSource,
  type SourcedRepository,
  type UnitSource,
} from '../build/unit-source.ts'
import { joinFolderPath } from '../kustomize/files/kustomization-walk.ts'
import { createSyncedSource } from '../synced/synced-source.ts'
import { createConfigSyncBuilder } from './config-sync-folder.ts'

const GROUP = 'configsync.gke.io'
const KINDS = ['RootSync', 'RepoSync']

/** Has `spec.clusterName`, if Google Cloud installed Config Sync. */
const INSTALLATION = { group: 'configmanagement.gke.io', kind: 'ConfigManagement' }

export const CONFIG_SYNC = createSyncedSource({
  name: 'Config Sync',
  kinds: [
    ...KINDS.map((kind) => ({ group: GROUP, version: 'v1beta1', kind })),
    { ...INSTALLATION, version: 'v1', use: 'optional' },
  ],
  read: (of, repository) => {
    const syncs = KINDS.flatMap((kind) => of(GROUP, kind))
    const clusterName = findClusterName(of(INSTALLATION.group, INSTALLATION.kind), syncs)
    return syncs.flatMap((own) => discoverSource(own, repository, clusterName))
  },
})

/** Config Sync writes the name on what it applies. Undefined if files declare several clusters. */
function findClusterName(
  installations: readonly JsonObject[],
  syncs: readonly JsonObject[],
): string | undefined {
  const names = [
    ...installations.map((own) => getTextAt(own, 'spec', 'clusterName')),
    ...syncs.map((own) => getAnnotations(own).get(`${GROUP}/cluster-name`) ?? ''),
  ]
  const [name, ...others] = new Set(names.filter((each) => each !== ''))
  return others.length === 0 ? name : undefined
}

function discoverSource(
  own: JsonObject,
  repository: SourcedRepository,
  clusterName: string | undefined,
): readonly (UnitSource | RefusedSource)[] {
  const kind = getTextAt(own, 'kind')
  const title = `Config Sync ${kind} ${formatOwnTitle(own)}`
  const refused = (why: string): readonly RefusedSource[] => [{ title, why }]
  const sourceType = getTextAt(own, 'spec', 'sourceType') || 'git'
  if (sourceType !== 'git') {
    const isOurs = findDeclaredNamed(own, repository.declared, () => true) !== undefined
    return isOurs
      ? refused(
          `its source is ${sourceType === 'helm' ? 'a chart of a Helm repository' : 'an OCI image'} (spec.sourceType: ${sourceType}), which is not in this repository`,
        )
      : []
  }
  if (!repository.isHere(getTextAt(own, 'spec', 'git', 'repo'))) return []
  const revision = findNonEmptyText(own, 'spec', 'git', 'revision')
  const isDefault = revision === undefined || revision === 'HEAD'
  const followed = shortenBranch(
    isDefault ? getTextAt(own, 'spec', 'git', 'branch') || 'master' : revision,
  )
  const isFixed = !isDefault && !repository.isBranch(followed)
  if (!isFixed && followed !== repository.baseBranch) return []
  const folder = parseSyncFolder(getPartAt(own, 'spec', 'git', 'dir') ?? '')
  if (folder === undefined) return refused('its dir leaves the repository')
  const format =
    getTextAt(own, 'spec', 'sourceFormat') || (kind === 'RepoSync' ? 'unstructured' : 'hierarchy')
  if (format !== 'unstructured' && format !== 'hierarchy')
    return refused(`its format is not known (spec.sourceFormat: ${format})`)
  const isKustomized = KUSTOMIZATION_NAMES.some((name) =>
    repository.has(joinFolderPath(folder, name)),
  )
  if (isKustomized && format === 'hierarchy')
    return refused(
      'a kustomization is not built in the hierarchical format (set spec.sourceFormat: unstructured)',
    )
  const builder = createConfigSyncBuilder({ format, isKustomized, clusterName })
  return [
    {
      tool: 'config-sync',
      title,
      id: {
        group: GROUP,
        kind,
        namespace: getMetadataText(own, 'namespace'),
        name: getMetadataText(own, 'name'),
      },
      folder,
      variablesFrom: [],
      build: () => ({ title, folder, object: own, variables: new Map(), builder }),
      pinned: isFixed
        ? `it applies the revision ${revision}: a merge is applied once spec.git.revision of it moves`
        : undefined,
    },
  ]
}
