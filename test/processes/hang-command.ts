/** Words of a shell that hang for as long as this process lives: a program that nobody ends does not outlive an interrupted run. */
export const HANG = `sh -c 'while kill -0 ${process.pid} 2>/dev/null; do sleep 0.2; done'`
