/** What Argo CD reads of a folder of manifests (argo-cd 3.2.0 `reposerver/repository/repository.go` findManifests, `docs/user-guide/directory.md`). */
import { isJsonObject, type JsonObject, partOf, textOf } from '../../text/json.ts'
import type { SourceFiles } from '../kustomize/kustomize-build.ts'
import { type PrintedFile, printFiles } from '../print-files.ts'
import { isEmptyList } from '../render-package.ts'
import type { SyncerBuilder } from '../syncer-build.ts'
import { destinationNamespace } from './argo-kustomize.ts'
import { type ArgoSource, overrideNames, refused, sourceOf } from './argo-source.ts'
import { matchesGoGlob } from './go-glob.ts'

/** Anywhere in a file. */
const SKIPPED = '+argocd:skip-file-rendering'

export function argoDirectory(of: ArgoSource): SyncerBuilder {
  return {
    fields: ['spec', ...of.at, 'kustomize'],
    overrides: { names: overrideNames(of), field: 'kustomize' },
    components: () => [],
    way: { print: (object, folder, files) => printed(sourceOf(of, object, folder, files), folder, files) },
    namespace: destinationNamespace,
    documents: (_build, _object, text) => [{ text }],
    finished: (built) => built,
  }
}

function printed(source: JsonObject, folder: string, files: SourceFiles): string {
  const recurses = partOf(source, 'directory', 'recurse') === true
  const [include, exclude] = [textOf(source, 'directory', 'include'), textOf(source, 'directory', 'exclude')]
  const chosen = ({ path, text }: PrintedFile): boolean => {
    if (!recurses && path.includes('/')) return false
    if ((exclude !== '' && matchesGoGlob(exclude, path)) || (include !== '' && !matchesGoGlob(include, path))) return false
    if (text.includes(SKIPPED)) return false
    if (path.endsWith('.jsonnet')) throw refused(source, `${path} is jsonnet, which is not evaluated here`)
    return true
  }
  return printFiles(files, folder, chosen, (object, { text }) => {
    if (isEmptyList(object)) return false
    // Other YAML files are left out as they are.
    return (
      (isJsonObject(object) && textOf(object, 'kind') !== '') || ['apiVersion:', 'kind:', 'metadata:'].every((word) => text.includes(word))
    )
  })
}
