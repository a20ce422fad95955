import {
  adviseRegion,
  adviseRegionAsync,
  type MapAdvice,
  type MapRegion,
  mapFile,
  unmapRegion,
} from '@quicksilver/native';
import { POPULATE_WINDOW } from './populate.ts';

/** Bytes; a page of every machine that is meant is a divisor of this. */
const LARGEST_PAGE = 64 * 1024;

/** Whether this kernel can populate on request (Linux 5.14); known after the first try. */
let canPopulate: boolean | undefined;

/**
 * Pages of a file in this process, apart from the view onto them, so that they can outlive it for as long as another
 * thread brings them in:
 *
 *   mapped --populate--> one window under way in libuv's pool --> next window ... --> mapped
 *   release: unmapped now, or by the end of the window under way; no further window begins
 */
export class MappedRegion {
  readonly #region: MapRegion;
  #released = false;
  #underWay: Promise<void> | undefined;

  private constructor(region: MapRegion) {
    this.#region = region;
  }

  static map(fd: number, length: number, populate: boolean): { region: MappedRegion; view: ArrayBuffer } {
    const { region, view } = mapFile(fd, length, populate);
    return { region: new MappedRegion(region), view };
  }

  /** Few places will be read: what lies beside them is not worth reading ahead. Advice, so no answer matters. */
  expectFewPlaces(): void {
    adviseRegion({ region: this.#region, offset: 0, length: this.#region.length }, 'random');
  }

  /** Begins to bring in all pages, window by window, while the caller goes on. */
  populate(): void {
    // The first page now: it tells whether the kernel can, which another thread could not say.
    const first = { region: this.#region, offset: 0, length: Math.min(this.#region.length, LARGEST_PAGE) };
    canPopulate ??= adviseRegion(first, 'populate');
    this.#underWay = this.#windows(canPopulate ? 'populate' : 'willNeed').finally(() => {
      this.#underWay = undefined;
      if (this.#released) unmapRegion(this.#region);
    });
  }

  /** Once no other thread works on the pages. Never rejects: populating is a favour. */
  async idle(): Promise<void> {
    await this.#underWay;
  }

  /** Gives the pages back. Called once, by whoever has made sure that no view is left. */
  release(): void {
    this.#released = true;
    if (this.#underWay === undefined) unmapRegion(this.#region);
  }

  async #windows(advice: MapAdvice): Promise<void> {
    const region = this.#region;
    for (let offset = 0; offset < region.length && !this.#released; offset += POPULATE_WINDOW) {
      const length = Math.min(POPULATE_WINDOW, region.length - offset);
      // A page that cannot be read fails again, and is reported, when somebody reads it.
      if (!(await adviseRegionAsync({ region, offset, length }, advice))) return;
    }
  }
}
