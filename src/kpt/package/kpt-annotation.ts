/**
 * Porch reads the purpose of a commit from this line (porch `pkg/externalrepo/git/annotation.go`).
 */
import { getKey, getTextAt, isJsonObject, type Json, parseJson } from '@backporch/kyaml/json'

export interface KptAnnotation {
  readonly packagePath: string
  readonly workspace: string
  /** `0` for a draft; old Porch wrote `v8`. Empty if absent. */
  readonly revision: string
  readonly task: KptTask | undefined
}

interface KptTask {
  /** Porch ignores words other than `init`, `edit`, `clone` and `upgrade`. */
  readonly type: string
  /** For `edit`: the source package revision. */
  readonly source: string
}

/** By convention a separate paragraph. */
export function formatKptAnnotation(annotation: KptAnnotation): string {
  const { packagePath, workspace, revision, task } = annotation
  const source =
    task === undefined || task.source === ''
      ? {}
      : { [task.type]: { sourceRef: { name: task.source } } }
  return `kpt:${JSON.stringify({
    package: packagePath,
    workspaceName: workspace,
    revision,
    ...(task === undefined ? {} : { task: { type: task.type, ...source } }),
  })}`
}

/** `problems`: lines that are not JSON mappings. */
export function parseKptAnnotations(message: string): {
  readonly annotations: readonly KptAnnotation[]
  readonly problems: readonly string[]
} {
  const annotations: KptAnnotation[] = []
  const problems: string[] = []
  message.split('\n').forEach((raw, index) => {
    const line = raw.trim()
    if (!line.startsWith('kpt:')) return
    const annotation = parseLine(line.slice('kpt:'.length))
    if (annotation === undefined)
      problems.push(`line ${index + 1} of the message begins with kpt: and is not a JSON mapping`)
    else annotations.push(annotation)
  })
  return { annotations, problems }
}

function parseLine(text: string): KptAnnotation | undefined {
  let value: Json
  try {
    value = parseJson(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(value)) return undefined
  const task = getKey(value, 'task')
  return {
    packagePath: getTextAt(value, 'package'),
    workspace: getTextAt(value, 'workspaceName'),
    revision: getTextAt(value, 'revision'),
    task: isJsonObject(task) ? readTask(task) : undefined,
  }
}

function readTask(task: { readonly [key: string]: Json }): KptTask {
  const type = getTextAt(task, 'type')
  return { type, source: getTextAt(task, type, 'sourceRef', 'name') }
}

/** The first one, as in Porch. */
export function findAnnotatedWorkspace(
  annotations: readonly KptAnnotation[],
  packagePath: string,
): string | undefined {
  return annotations.find(
    (annotation) => annotation.packagePath === packagePath && annotation.workspace !== '',
  )?.workspace
}
