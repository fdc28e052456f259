import { type FoundPackage, KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import {
  getParentFolder,
  joinFolderPath,
} from '../../sources/kustomize/files/kustomization-walk.ts'

/** @throws Failure BP1004 if a kustomization further down, or Helm, has to build the objects */
export function assertPlainFolder(
  { path: folder, subpackages }: FoundPackage,
  files: PackageFiles,
): void {
  const where = (path: string): string => joinFolderPath(folder, path)
  const own = files
    .map(({ path }) => where(path))
    .filter((path) => !subpackages.some((below) => path.startsWith(`${below}/`)))
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
  const charts = own
    .filter((path) => nameOf(path) === 'Chart.yaml')
    .map((path) => getParentFolder(path) || '.')
  if (charts.length > 0)
    throw createNotPlainFailure(
      folder,
      `Helm makes the objects of ${formatFolderList(charts)}`,
      'name a folder without a chart, or the command that prints the objects in a policy (spec.render)',
    )
  const built = own
    .filter((path) => KUSTOMIZATION_NAMES.some((name) => name === nameOf(path)))
    .map((path) => getParentFolder(path) || '.')
  if (built.length > 0)
    throw createNotPlainFailure(
      folder,
      `kustomize makes the objects of ${formatFolderList(built)}, and it is unknown which of them run`,
      `name one of these folders, as in --path ${built[0]}, or set spec.render.tool: files in a policy to compare the files as they are`,
    )
}

export function holdsNothing(folder: string): Failure {
  return new Failure({
    code: 'BP1004',
    what: `there is no object in ${folder || 'the root of the repository'}`,
    why: 'no file of the folder declares an object that is applied',
    remedy: 'name the folder of the manifests',
    retry: 'on-change',
  })
}

function createNotPlainFailure(folder: string, why: string, remedy: string): Failure {
  const what = `${folder || 'the root of the repository'} cannot be compared as it is`
  return new Failure({ code: 'BP1004', what, why, remedy, retry: 'on-change' })
}

function formatFolderList(folders: readonly string[]): string {
  const more = folders.length > 5 ? ` and ${folders.length - 5} more` : ''
  return `${folders.slice(0, 5).join(', ')}${more}`
}
