import type { ControlPlane, RequestOptions } from '../controlplane/control-plane.ts'

/** A request as the administrator that has to work. Rejects with the server's answer otherwise. */
export async function send(
  plane: ControlPlane,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<unknown> {
  const { status, body } = await plane.request(method, path, options)
  if (status >= 300)
    throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`)
  return body
}
