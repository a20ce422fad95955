/** One attempt's task: the id names its files, the number is its place in the lane of its mirror (rising). */
export interface TaskRef {
  readonly id: string;
  readonly number: number;
}
